from servicekit.run import run
from services.gateway.app import Gateway
from services.gateway.settings import GatewaySettings

if __name__ == "__main__":
    run("gateway", GatewaySettings, Gateway, paced=True)
