@echo off
rem Finds a Python and leaves the rest to start.py. Nobody has tried this file on Windows yet.
where py >nul 2>nul
if errorlevel 1 (python "%~dp0start.py" %*) else (py -3 "%~dp0start.py" %*)
if errorlevel 1 pause
