"""`python -m services.engine`."""

if __name__ == "__main__":
    # Imported here: a spawned deal worker imports this module, and needs none of it.
    from servicekit.run import run
    from services.engine.app import Engine
    from services.engine.settings import EngineSettings

    run("engine", EngineSettings, Engine, paced=True)
