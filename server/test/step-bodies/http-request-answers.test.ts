/** Answers as real servers and proxies give them, byte by byte: each of these is read by browsers and by curl. */
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/engine/values/json.js';
import { contextOf, useCalls, valuesOf } from './support/call.js';

const { serveTcp, body } = useCalls();

type Bytes = string | Buffer;

/** What the step returns for these bytes, which a server writes one after another and then closes the connection. */
async function answerOf(parts: readonly Bytes[], inputs: JsonObject = {}): Promise<JsonObject> {
  const server = await serveTcp((socket) => {
    socket.once('data', () => {
      for (const part of parts) socket.write(typeof part === 'string' ? latin1(part) : part);
      socket.end();
    });
  });
  return valuesOf(await body().run({ BaseUrl: server.url, ...inputs }, contextOf()));
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function byByte(text: string): readonly string[] {
  return Array.from(text);
}

function inChunks(bytes: Buffer): Buffer {
  const size = Buffer.from(`${bytes.length.toString(16)}\r\n`);
  return Buffer.concat([size, bytes, Buffer.from('\r\n0\r\n\r\n')]);
}

/** A head with lines that end as they should. */
function head(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const OK = 'HTTP/1.1 200 OK';
const JSON_FIELD = 'Content-Type: application/json';
const LENGTH = 'Content-Length: 7';
const A = '{"a":1}';
const FINAL = head(OK, JSON_FIELD, LENGTH) + A;
const CHUNKED = `7\r\n${A}\r\n0\r\n\r\n`;

describe('the reader of the body {"a":1}', () => {
  it.each<[string, readonly Bytes[]]>([
    ['after 100 that nobody asked for', ['HTTP/1.1 100 Continue\r\n\r\n', FINAL]],
    ['after 102 and 103', [head('HTTP/1.1 102 P'), head('HTTP/1.1 103 E', 'Link: <x>'), FINAL]],
    ['after 101 that nobody asked for', [head('HTTP/1.1 101 S', 'Upgrade: h2c'), FINAL]],
    ['after 199', [head('HTTP/1.1 199 X'), FINAL]],
    ['after ten of them', [head('HTTP/1.1 100 C').repeat(10) + FINAL]],
    ['after 100 with a length', [head('HTTP/1.1 100 C', 'Content-Length: 5'), FINAL]],
    ['with two types', [head(OK, JSON_FIELD, `${JSON_FIELD}; charset=utf-8`, LENGTH), A]],
    ['with a second type that is none', [head(OK, JSON_FIELD, 'Content-Type: ', LENGTH), A]],
    ['with two types in one field', [head(OK, `${JSON_FIELD}, application/json`, LENGTH), A]],
    ['with two equal lengths', [head(OK, JSON_FIELD, LENGTH, LENGTH), A]],
    ['with two equal lengths in one field', [head(OK, JSON_FIELD, `${LENGTH}, 7`), A]],
    [
      'with a length and chunked',
      [head(OK, JSON_FIELD, LENGTH, 'Transfer-Encoding: chunked'), CHUNKED],
    ],
    [
      'with chunked twice',
      [head(OK, JSON_FIELD, 'Transfer-Encoding: chunked', 'transfer-encoding: Chunked'), CHUNKED],
    ],
    ['with the coding identity', [head(OK, JSON_FIELD, LENGTH, 'Transfer-Encoding: identity'), A]],
    [
      'with extensions and a trailer',
      [
        head(OK, JSON_FIELD, 'Transfer-Encoding: chunked'),
        `7;a=b;c="d"\r\n${A}\r\n0;x\r\nX-T: 1\r\n\r\n`,
      ],
    ],
    [
      'with blanks after the sizes',
      [
        head(OK, JSON_FIELD, 'Transfer-Encoding: chunked'),
        '3  \r\n{"a\r\n0004 ;x\r\n":1}\r\n0 \r\n\r\n',
      ],
    ],
    [
      'in chunks, byte by byte',
      byByte(head(OK, JSON_FIELD, 'Transfer-Encoding: chunked') + CHUNKED),
    ],
    [
      'in chunks with bare line feeds',
      [`${OK}\n${JSON_FIELD}\nTransfer-Encoding: chunked\n\n7\n${A}\n0\n\n`],
    ],
    ['with an empty length', [head(OK, JSON_FIELD, 'Content-Length:'), A]],
    ['with a folded field', [head(OK, 'X-Long: a', '\tb', ' c', JSON_FIELD, LENGTH), A]],
    ['with a folded type', [head(OK, 'Content-Type:', ' application/json', LENGTH), A]],
    ['with a space before the colon', [head(OK, 'Content-Type : application/json', LENGTH), A]],
    ['with a line without a colon', [head(OK, JSON_FIELD, 'broken', LENGTH), A]],
    ['with a name that is no name', [head(OK, JSON_FIELD, 'x y: 1', 'n\xe9: 2', ': 3', LENGTH), A]],
    ['with a control character', [head(OK, JSON_FIELD, 'X: a\x01b', LENGTH), A]],
    ['with bare line feeds', [`${OK}\n${JSON_FIELD}\n${LENGTH}\n\n${A}`]],
    ['after empty lines', [`\r\n\r\n${FINAL}`]],
    ['without a reason', [head('HTTP/1.1 200', JSON_FIELD, LENGTH), A]],
    ['with a reason beyond ASCII', [head('HTTP/1.1 200 d\xe9j\xe0 \x07', JSON_FIELD, LENGTH), A]],
    ['from HTTP/1.0 without a length', [head('HTTP/1.0 200 OK', JSON_FIELD), A]],
    ['from a later version', [head('HTTP/1.9 200 OK', JSON_FIELD, LENGTH), A]],
    ['with a byte order mark', [head(OK, JSON_FIELD), Buffer.from(`\ufeff${A}`)]],
    ['in UTF-16', [head(OK, JSON_FIELD), Buffer.from(`\ufeff${A}`, 'utf16le')]],
    ['with a charset in quotes', [head(OK, `${JSON_FIELD}; charset="UTF-8"`, LENGTH), A]],
    ['with more bytes than its length', [`${FINAL}garbage`]],
    ['byte by byte', byByte(head('HTTP/1.1 103 E') + FINAL)],
    ['compressed', [head(OK, JSON_FIELD, 'Content-Encoding: gzip'), gzipSync(A)]],
    [
      'compressed, with two equal fields',
      [head(OK, JSON_FIELD, 'Content-Encoding: gzip', 'Content-Encoding: gzip'), gzipSync(A)],
    ],
    [
      'compressed twice',
      [
        head(OK, JSON_FIELD, 'Content-Encoding: deflate', 'Content-Encoding: gzip'),
        gzipSync(deflateSync(A)),
      ],
    ],
    ['compressed by zstd', [head(OK, JSON_FIELD, 'Content-Encoding: zstd'), zstdCompressSync(A)]],
    [
      'compressed for the transfer, in chunks',
      [head(OK, JSON_FIELD, 'Transfer-Encoding: gzip, chunked'), inChunks(gzipSync(A))],
    ],
    [
      'compressed for the transfer, with two fields',
      [
        head(OK, JSON_FIELD, 'Transfer-Encoding: deflate', 'Transfer-Encoding: chunked'),
        inChunks(deflateSync(A)),
      ],
    ],
    [
      'compressed for the transfer, until the end',
      [head(OK, JSON_FIELD, 'Transfer-Encoding: gzip'), gzipSync(A)],
    ],
    [
      'compressed in both ways',
      [
        head(OK, JSON_FIELD, 'Content-Encoding: br', 'Transfer-Encoding: gzip, chunked'),
        inChunks(gzipSync(brotliCompressSync(A))),
      ],
    ],
    ['in bare deflate', [head(OK, JSON_FIELD, 'Content-Encoding: deflate'), deflateRawSync(A)]],
    ['in deflate', [head(OK, JSON_FIELD, 'Content-Encoding: deflate'), deflateSync(A)]],
    [
      'compressed, and followed by zeros',
      [head(OK, JSON_FIELD, 'Content-Encoding: gzip'), gzipSync(A), Buffer.alloc(8)],
    ],
  ])('reads it %s', async (_name, parts) => {
    expect(await answerOf(parts)).toMatchObject({
      ResponseCode: 200,
      ResponseBody: { a: 1 },
      IsSuccessful: true,
      ErrorMessage: null,
    });
  });
});

describe('an answer without a body', () => {
  it.each([
    [
      '202, compressed',
      'GET',
      head('HTTP/1.1 202 A', 'Content-Encoding: gzip', 'Content-Length: 0'),
    ],
    [
      '200, compressed, chunked',
      'GET',
      `${head(OK, 'Content-Encoding: br', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    ],
    ['200, compressed twice, until the end', 'GET', head(OK, 'Content-Encoding: gzip, deflate')],
    [
      '200, compressed for the transfer',
      'GET',
      `${head(OK, 'Content-Encoding: zstd', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
    ],
    ['204 with a length', 'GET', head('HTTP/1.1 204 N', 'Content-Length: 5')],
    ['204 with a body', 'GET', `${head('HTTP/1.1 204 N', 'Content-Length: 2')}no`],
    ['204, chunked', 'DELETE', head('HTTP/1.1 204 N', 'Transfer-Encoding: chunked')],
    ['200 to HEAD with a length', 'HEAD', head(OK, 'Content-Length: 99', 'Content-Encoding: gzip')],
    ['200 to HEAD, chunked', 'HEAD', head(OK, 'Transfer-Encoding: chunked')],
  ])('is a success: %s', async (_name, method, bytes) => {
    expect(await answerOf([bytes], { Method: method })).toMatchObject({
      ResponseBody: null,
      IsSuccessful: true,
      ErrorMessage: null,
    });
  });
});

describe('a status', () => {
  it.each([600, 777, 999])('is a result if it is %i', async (status) => {
    const values = await answerOf([head(`HTTP/1.1 ${status} X`, JSON_FIELD, LENGTH), A]);
    expect(values).toMatchObject({
      ResponseCode: status,
      ResponseBody: { a: 1 },
      IsSuccessful: false,
    });
  });

  it.each([
    'HTTP/1.1 000 X',
    'HTTP/1.1 099 X',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 -20 OK',
    'HTTP/1.1 OK',
    'HTTP/x 200 OK',
  ])('is no answer if it is invalid: %s', async (line) => {
    const values = await answerOf([head(line, LENGTH), A]);
    expect(values).toMatchObject({ ResponseCode: 0, ResponseBody: null });
    expect(values['ErrorMessage']).toMatch(/the response is not valid HTTP/);
  });
});

describe('a field beyond ASCII', () => {
  it('is read as UTF-8, or else as Latin-1', async () => {
    const values = await answerOf([
      head(OK, `X-U: ${Buffer.from('Zoë').toString('latin1')}`, 'X-L: Zo\xeb'),
      '',
    ]);
    expect(values['ResponseHeaders']).toMatchObject({ 'x-u': 'Zoë', 'x-l': 'Zoë' });
  });

  it.each([
    ['/\xc3\xbc/\xe2\x98\x83?q=\xc3\xa9', '/%C3%BC/%E2%98%83?q=%C3%A9'],
    ['/\xfc', '/%FC'],
    ['/a%20b/\xc3\xbc c#\xc3\xbc', '/a%20b/%C3%BC%20c'],
  ])('is sent back from Location as it came: %j', async (location, expected) => {
    const lines: string[] = [];
    const server = await serveTcp((socket) => {
      socket.on('data', (bytes: Buffer) => {
        lines.push(bytes.toString('latin1').split('\r\n')[0] ?? '');
        const moved = head('HTTP/1.1 302 F', `Location: ${location}`, 'Content-Length: 0');
        socket.end(latin1(lines.length === 1 ? moved : FINAL));
      });
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url }, contextOf()));
    expect(values).toMatchObject({ ResponseCode: 200, ResponseBody: { a: 1 } });
    expect(lines[1]).toBe(`GET ${expected} HTTP/1.1`);
  });
});

describe('a chunked body', () => {
  it.each([
    ['without a size', 'x\r\n', /not valid HTTP/],
    ['with a size that is too large', `${'f'.repeat(17)}\r\n`, /not valid HTTP/],
    ['longer than their size', '2\r\nabc\r\n', /not valid HTTP/],
    ['with an endless line', `2;${'x'.repeat(100_000)}`, /connection was closed/],
    ['with an endless trailer', `0\r\n${'X: y\r\n'.repeat(100_000)}`, /are too large/],
    ['that do not end', '2\r\nab\r\n', /connection was closed/],
  ])('is incomplete with chunks %s', async (_name, bytes, problem) => {
    const values = await answerOf([head(OK, 'Transfer-Encoding: chunked') + bytes]);
    expect(values).toMatchObject({ ResponseCode: 200, ResponseBody: null, IsSuccessful: false });
    expect(values['ErrorMessage']).toMatch(problem);
  });

  it('ends, so that the connection serves the next call', async () => {
    const server = await serveTcp((socket) => {
      socket.on('data', () => {
        socket.write(
          `${head(OK, JSON_FIELD, 'Transfer-Encoding: chunked')}7 \r\n${A}\r\n0\r\nX: y\r\n\r\n`,
        );
      });
    });
    const http = body({ connectionsPerHost: 1 });
    for (let call = 0; call < 3; call += 1) {
      const values = valuesOf(await http.run({ BaseUrl: server.url }, contextOf()));
      expect(values['ResponseBody']).toEqual({ a: 1 });
    }
    expect(server.connections).toBe(1);
  });
});

describe('a head that does not end', () => {
  it.each([
    ['interim answers', head('HTTP/1.1 100 C').repeat(10_000)],
    ['fields', `${OK}\r\n${'X: y\r\n'.repeat(20_000)}`],
    ['one field', `${OK}\r\nX: ${'y'.repeat(200_000)}`],
    ['the reason', `HTTP/1.1 200 ${'y'.repeat(200_000)}`],
  ])('is given up: %s', async (_name, bytes) => {
    const values = await answerOf([bytes]);
    expect(values['ErrorMessage']).toMatch(/header fields of the response are too large/);
  });

  it('is accepted up to 60 kB', async () => {
    const values = await answerOf([head(OK, `X: ${'y'.repeat(60_000)}`, LENGTH, JSON_FIELD), A]);
    expect(values).toMatchObject({ ResponseCode: 200, ResponseBody: { a: 1 } });
  });
});

describe('a connection that the server closes as the second call arrives', () => {
  /** Answers the first request of each connection, and closes it when another one arrives. */
  const closing = async (second: string, close: 'end' | 'reset' = 'end') => {
    const received: string[] = [];
    const server = await serveTcp((socket) => {
      let requests = 0;
      socket.on('data', (bytes: Buffer) => {
        received.push(bytes.toString('latin1').split(' ')[0] ?? '');
        requests += 1;
        if (requests === 1) socket.write(FINAL);
        else if (close === 'reset') socket.resetAndDestroy();
        else socket.end(second);
      });
    });
    return { server, received };
  };
  const callTwice = async (url: string, inputs: JsonObject): Promise<JsonObject> => {
    const http = body({ connectionsPerHost: 1 });
    valuesOf(await http.run({ BaseUrl: url }, contextOf()));
    return valuesOf(await http.run({ BaseUrl: url, ...inputs }, contextOf()));
  };

  it.each(['GET', 'OPTIONS', 'PUT', 'DELETE'])('sends %s once more', async (method) => {
    for (const how of ['end', 'reset'] as const) {
      const { received, server } = await closing('', how);
      expect(await callTwice(server.url, { Method: method, Body: { x: 1 } })).toMatchObject({
        ResponseCode: 200,
        ResponseBody: { a: 1 },
      });
      expect(received).toEqual(['GET', method, method]);
      expect(server.connections).toBe(2);
    }
  });

  it.each(['POST', 'PATCH', 'MERGE'])('does not send %s once more', async (method) => {
    const { received, server } = await closing('');
    const values = await callTwice(server.url, { Method: method, Body: { x: 1 } });
    expect(values).toMatchObject({ ResponseCode: 0 });
    expect(values['ErrorMessage']).toMatch(/closed/);
    expect(received).toEqual(['GET', method]);
  });

  it('does not repeat a GET after its answer has begun', async () => {
    const { received, server } = await closing('HTTP/1.1 200');
    expect(await callTwice(server.url, {})).toMatchObject({ ResponseCode: 0 });
    expect(received).toEqual(['GET', 'GET']);
  });

  it('does not send the first call of a connection once more', async () => {
    const server = await serveTcp((socket) => socket.once('data', () => socket.end()));
    const values = valuesOf(await body().run({ BaseUrl: server.url }, contextOf()));
    expect(values).toMatchObject({ ResponseCode: 0 });
    expect(server.connections).toBe(1);
  });

  it('sends it only once more', async () => {
    let connections = 0;
    const server = await serveTcp((socket) => {
      connections += 1;
      const isFirst = connections === 1;
      let requests = 0;
      socket.on('data', () => {
        requests += 1;
        if (isFirst && requests === 1) socket.write(FINAL);
        else socket.end();
      });
    });
    expect(await callTwice(server.url, {})).toMatchObject({ ResponseCode: 0 });
    expect(server.connections).toBe(2);
  });
});
