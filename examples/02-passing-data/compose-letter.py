subject = "Invoice " + reference
text = f"{subject}: {customer} owes {total:.2f} EUR"
