"""What you try: pages with tasks, and the checks of each with its misconceptions."""
