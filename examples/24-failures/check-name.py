if name.strip() == "":
    # Trying again would not change the name.
    raise NonRetryableError("a name is needed")
