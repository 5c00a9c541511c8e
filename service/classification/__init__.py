"""Classification: labels, weights and the vector space they were fitted in."""
