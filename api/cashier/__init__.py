"""The cashier: players' wallets, money in and money out."""
