"""Files of torch from elsewhere: read without running code, and what of their options is taken."""
