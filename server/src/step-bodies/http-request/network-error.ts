/** Explains why no response came, in words that the author of a definition can act on. */
import { errors } from 'undici';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before the response was complete',
  EPIPE: 'the connection was closed before the response was complete',
  UND_ERR_SOCKET: 'the connection was closed before the response was complete',
  ENOTFOUND: 'the host was not found',
  EAI_AGAIN: 'the host could not be looked up',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_OVERFLOW: 'the header fields of the response are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response does not match its Content-Length',
};

export function explainNetworkError(error: unknown): string {
  if (error instanceof errors.HTTPParserError) {
    return `the response is not valid HTTP (${error.message})`;
  }
  const code = findCode(error);
  const reason = code === null ? undefined : (REASONS[code] ?? reasonOfTls(code));
  if (code !== null && reason !== undefined) return `${reason} (${code})`;
  return error instanceof Error && error.message !== '' ? error.message : (code ?? 'unknown error');
}

/** OpenSSL's own text names positions in its source code and ends with a line break. */
function reasonOfTls(code: string): string | undefined {
  if (code !== 'EPROTO' && !code.startsWith('ERR_SSL_')) return undefined;
  return 'the TLS handshake failed; check that the host serves https on this port';
}

/** If several addresses were tried, Node throws an error without text that contains the others. */
function findCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof AggregateError) return findCode(error.errors[0]);
  return null;
}
