from servicekit.run import run
from services.watch.app import Watch
from services.watch.settings import WatchSettings

if __name__ == "__main__":
    run("watch", WatchSettings, Watch)
