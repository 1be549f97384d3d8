from up.new_home import followed
