"""What `interlingua doctor` knows: the machine, the settings and where they came from, findings."""
