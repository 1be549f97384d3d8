from up.homes import followed
