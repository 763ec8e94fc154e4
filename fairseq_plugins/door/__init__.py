"""The door for files from elsewhere: examined before a library reads them; nothing runs."""
