"""Reports: what the operator and the regulator add up."""
