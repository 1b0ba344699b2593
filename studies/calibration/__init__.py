"""A study of whether the guarantee holds, on data whose distribution is known."""
