"""A local page on which trained models can be looked at: what they read, say and attend to."""

import os

# Libraries read these when they are imported, and nothing of the page may be sent anywhere.
os.environ |= {
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
