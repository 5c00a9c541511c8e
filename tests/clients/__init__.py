"""Programs that use a running server through other people's packages, at their defaults.

Each is run by tests/e2e/test_clients.py in an environment that has these packages (`make clients`;
constraints/clients.txt) and nothing of ours; its first argument is the server's address. It ends
with an assertion error where an answer is not what the server gives to a plain request.
"""
