"""A headless Chromium with a report in it, for the tests of the page. Needs Debian's chromium, chromium-driver,
python3-selenium and python3-pil; `missing()` tells what is not there."""

import base64
import io
import os
import shutil

try:
    from PIL import Image
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.keys import Keys
except ImportError as error:
    Image = webdriver = Keys = None
    import_error = str(error)

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"


def missing():
    """What keeps a browser from being started; empty: nothing."""
    if webdriver is None:
        return import_error
    return ", ".join(f"no {path}" for path in (CHROMIUM, DRIVER) if shutil.which(path) is None)


class Browser:
    """One page at a time, in a window of a given size. Nothing that the page asks of a network would be answered."""

    def __init__(self, width=1400, height=950):
        options = Options()
        options.binary_location = CHROMIUM
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--disable-background-networking", "--proxy-server=127.0.0.1:9", f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_page_load_timeout(60)
        self.driver.set_script_timeout(60)
        self.resize(width, height)

    def close(self):
        self.driver.quit()

    def resize(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def open(self, path):
        self.driver.get("file://" + os.path.abspath(path))
        self.settle()

    def settle(self):
        """Until what has been asked to be drawn is on the screen."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60)));")

    def prefer(self, scheme):
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.settle()

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)
        self.settle()

    def press(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)
        self.settle()

    def focus(self, selector):
        self.run("document.querySelector(arguments[0]).focus()", selector)
        self.settle()

    def problems(self):
        """What the page has logged as an error: scripts that failed, and everything that its policy has refused."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def picture(self, whole=False):
        taken = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **(
            {"clip": {**self.page_box(), "scale": 1}} if whole else {}))
        return Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB")

    def picture_of(self, selector):
        # The page scrolls smoothly; what is taken while it does is another part of it.
        self.run("document.querySelector(arguments[0]).scrollIntoView({behavior: 'instant', block: 'center'})", selector)
        self.settle()
        return Image.open(io.BytesIO(self.find(selector).screenshot_as_png)).convert("RGB")

    def page_box(self):
        return self.run("const e = document.documentElement; return {x: 0, y: 0, width: e.scrollWidth, height: e.scrollHeight}")

    def printed(self):
        """The page as a PDF on A4."""
        return base64.b64decode(self.command("Page.printToPDF", printBackground=False, paperWidth=8.27, paperHeight=11.69)["data"])
