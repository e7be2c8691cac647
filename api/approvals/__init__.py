"""What takes two people: proposed by one, approved or refused by another."""
