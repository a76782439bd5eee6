"""A door with TLS before a service without: what a reverse proxy does, with a certificate of its own."""

import asyncio
import datetime
import ipaddress
import os
import ssl
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


class TLSDoor:
    """Takes connections with TLS and passes on what they say; clients in this process trust it."""

    def __init__(self, target, folder):
        self.target, self.file = target, str(folder / "door.pem")
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self):
        write_certificate(self.file)
        self.trusted = os.environ.get("SSL_CERT_FILE")
        os.environ["SSL_CERT_FILE"] = self.file
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file)
        self.thread.start()
        starting = asyncio.start_server(self.pass_on, "127.0.0.1", 0, ssl=context)
        self.server = asyncio.run_coroutine_threadsafe(starting, self.loop).result()
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_):
        os.environ.pop("SSL_CERT_FILE")
        if self.trusted is not None:
            os.environ["SSL_CERT_FILE"] = self.trusted
        asyncio.run_coroutine_threadsafe(self.close(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    async def close(self):
        self.server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def pass_on(self, reader, writer):
        inside, outside = await asyncio.open_connection("127.0.0.1", self.target)
        await asyncio.gather(copy(reader, outside), copy(inside, writer))


async def copy(reader, writer):
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


def write_certificate(file):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "door")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    with open(file, "wb") as output:
        output.write(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        output.write(certificate.public_bytes(serialization.Encoding.PEM))
