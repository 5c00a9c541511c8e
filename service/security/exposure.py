"""Whether a service without keys would answer other machines."""

from __future__ import annotations

import ipaddress

from service.errors import SettingsError
from service.settings import Settings


def asks_for_keys(settings: Settings) -> bool:
    """Return whether clients must send a key."""
    return bool(settings.api_keys) or settings.api_keys_file is not None


def is_loopback(host: str) -> bool:
    """Return whether an address to listen on is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name: whatever it stands for may be reached


def answers_own_names_alone(settings: Settings) -> bool:
    """Return whether nobody is answered who asks by another name than this machine's own."""
    local = is_loopback(settings.host) and not settings.open_to_network
    return local and not asks_for_keys(settings)


def check_exposure(settings: Settings) -> None:
    """Raise SettingsError where other machines would be answered without a key, unasked."""
    if is_loopback(settings.host) or asks_for_keys(settings) or settings.open_to_network:
        return
    raise SettingsError(
        f"Whoever reaches {settings.host} would be answered, as no keys are set.",
        field="host",
        given=settings.host,
        remedy="Set INTERLINGUA_API_KEYS or INTERLINGUA_API_KEYS_FILE (interlingua keys new), or "
        "listen on 127.0.0.1, or say INTERLINGUA_OPEN_TO_NETWORK=true where something else guards "
        "it.",
    )


def who_may_ask(settings: Settings) -> str:
    """Return in some words who is answered, for the lines at the start."""
    if asks_for_keys(settings):
        return "clients with a key"
    if is_loopback(settings.host):
        return "this machine alone, since no keys are set"
    return "everybody: no keys are set, and --open-to-network is"
