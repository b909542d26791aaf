"""What the tests of public courses accept: the same classic bugs, run against each."""
