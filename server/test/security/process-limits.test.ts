/**
 * S-01, S-02, S-15 and S-18 on the built server, in its own process: the cost of hostile requests, as the operating
 * system measures it, and how long the server waits for slow ones.
 *
 * The study asks for 100 or 200 ms of CPU and 50 MB of memory. These limits are wider, because the machines that run
 * tests are busy and a JavaScript heap grows in steps; a server that reads a body before it rejects it exceeds them
 * many times.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { startProcess, temporaryFolder } from '../behavior/support/server-process.js';
import type { SpawnedServer } from '../support/spawned-server.js';

const CPU_MS_MAX = 1000;
const MEMORY_MB_MAX = 60;

const MIB = 1024 * 1024;
const JSON_TYPE = 'application/json';
const YAML = 'application/yaml';
const EVENT = '/api/event/e/k';

interface Attack {
  readonly type: string;
  readonly body: Iterable<string | Buffer>;
  /** The value of Content-Length; null: chunks without a length. */
  readonly length: number | null;
  readonly encoding?: string;
}

function whole(type: string, text: string | Buffer, encoding?: string): Attack {
  const body = [text];
  return { type, body, length: Buffer.byteLength(text), ...(encoding && { encoding }) };
}

function* endless(bytes: number): Generator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024, ' ');
  for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk;
}

/** The status of the response; 0 if the server closed the connection before it. */
function send(url: string, { body, encoding, length, type }: Attack): Promise<number> {
  return new Promise((resolve) => {
    const outgoing = request(url + EVENT, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': type,
        ...(length !== null && { 'content-length': length }),
        ...(encoding !== undefined && { 'content-encoding': encoding }),
      },
    });
    let status = 0;
    let isOver = false;
    const end = (): void => {
      isOver = true;
      outgoing.destroy();
      resolve(status);
    };
    outgoing.on('response', (response) => {
      status = response.statusCode ?? 0;
      response.resume().on('end', end).on('error', end);
    });
    outgoing.on('error', end).on('close', end);
    const chunks = body[Symbol.iterator]();
    const write = (): void => {
      for (let next = chunks.next(); !isOver && next.done !== true; next = chunks.next()) {
        if (!outgoing.write(next.value)) {
          outgoing.once('drain', write);
          return;
        }
      }
      if (!isOver) outgoing.end();
    };
    write();
  });
}

/** CPU time of the process so far. The clock of the kernel's report has 100 ticks a second. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function memoryMb(pid: number, field: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
}

async function start(environment: Readonly<Record<string, string>> = {}): Promise<SpawnedServer> {
  return startProcess({
    PORT: '0',
    DATA_DIR: await temporaryFolder(),
    PYTHON_SPARES: '0',
    ...environment,
  });
}

const quoted = (text: string): string => JSON.stringify(text);

const OVERSIZED: Readonly<Record<string, () => Attack>> = {
  'a byte over the limit': () => whole(JSON_TYPE, quoted('x'.repeat(MIB - 1))),
  '100 MB that are declared': () => ({
    type: JSON_TYPE,
    body: endless(100 * MIB),
    length: 100 * MIB,
  }),
  '100 MB in chunks': () => ({ type: JSON_TYPE, body: endless(100 * MIB), length: null }),
  'a compressed bomb': () => whole(JSON_TYPE, gzipSync(Buffer.alloc(50 * MIB)), 'gzip'),
  'members without end': () =>
    whole(
      JSON_TYPE,
      `{${Array.from({ length: 90_000 }, (_, at) => `"${at.toString(36)}":1`).join(',')},"a":[${'1,'.repeat(120_000)}1]}`,
    ),
  'a hundred thousand levels': () => whole(JSON_TYPE, '['.repeat(100_000)),
};

const BOMBS: Readonly<Record<string, string>> = {
  'billion laughs': [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefghi'
      .split('')
      .map(
        (name, at) =>
          `${name}: &${name} [${`*${'abcdefgh'[at] ?? ''},`.repeat(8)}*${'abcdefgh'[at] ?? ''}]`,
      ),
  ].join('\n'),
  'one long string many times': `a: &a ${'x'.repeat(100_000)}\nb: [${'*a,'.repeat(10_000)}*a]`,
  'deeply nested flow collections': '['.repeat(5000),
  'a huge merge': `a: &a {${Array.from({ length: 5000 }, (_, at) => `k${at}: 1`).join(', ')}}\nb:\n${'  <<: *a\n'.repeat(5000)}`,
  'unknown tags': '- !!js/function "x"\n'.repeat(10_000),
  'a key repeated many times': 'a: 1\n'.repeat(50_000),
  'an alias inside its own anchor': `a: &a [${'*a,'.repeat(1000)}*a]`,
  'many documents': '---\n'.repeat(60_000),
  'one million letters': `a: ${'x'.repeat(1_000_000)}`,
  'brackets and quotes': '[{"'.repeat(60_000),
};

const PATTERNS = ['"', '\\', '[{', '1e', '-', '{"a":', ' ', '\u00e9', '"\\u', '9', ','];

const runsOnLinux = process.platform === 'linux';

describe.runIf(runsOnLinux)('the process', () => {
  it('spends little time and memory on bodies that it rejects', { timeout: 180_000 }, async () => {
    const { pid, url } = await start();
    const cost = async (what: string, attack: Attack) => {
      const before = cpuMs(pid);
      const status = await send(url, attack);
      expect([400, 413, 415], what).toContain(status);
      expect(cpuMs(pid) - before, `${what}: ms of CPU`).toBeLessThan(CPU_MS_MAX);
    };
    // Costs that every server has once do not count: compilation, the first pages of the heap.
    for (let warm = 0; warm < 30; warm += 1) {
      await send(url, whole(JSON_TYPE, quoted('x'.repeat(MIB - 2))));
      await send(url, whole(YAML, `a: [${'1,'.repeat(20_000)}1]`));
    }
    // Resets the peak.
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    const calm = memoryMb(pid, 'VmRSS');
    for (const [what, attack] of Object.entries(OVERSIZED)) await cost(what, attack());
    for (const [what, text] of Object.entries(BOMBS)) await cost(what, whole(YAML, text));
    for (const pattern of PATTERNS) {
      const text = pattern.repeat(Math.floor((MIB - 8) / Buffer.byteLength(pattern)));
      await cost(`a megabyte of ${pattern}`, whole(JSON_TYPE, `${text}!`));
    }
    expect(memoryMb(pid, 'VmHWM') - calm, 'MB of memory').toBeLessThan(MEMORY_MB_MAX);
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  });
});

describe('a slow request', () => {
  /** The response, and the time after which the server closed the connection. */
  const trickle = (url: string, head: string, drop: string) =>
    new Promise<{ answer: string; tookMs: number }>((resolve) => {
      const began = performance.now();
      let answer = '';
      const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
      const timer = setInterval(() => socket.write(drop), 100);
      socket.on('data', (chunk: string) => (answer += chunk)).on('error', () => undefined);
      socket.on('close', () => {
        clearInterval(timer);
        resolve({ answer, tookMs: performance.now() - began });
      });
      socket.write(head);
    });

  it('gets 408 after the configured time, however steadily the bytes arrive', async () => {
    const { url } = await start({ HEADERS_TIMEOUT_MS: '500', REQUEST_TIMEOUT_MS: '2500' });
    const [headers, body] = await Promise.all([
      trickle(url, 'GET /api/info HTTP/1.1\r\nHost: localhost\r\nX: ', 'a'),
      trickle(
        url,
        `POST ${EVENT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 1000\r\n\r\n"`,
        'a',
      ),
    ]);
    expect(headers.answer).toMatch(/^HTTP\/1\.1 408/);
    expect(headers.tookMs).toBeGreaterThan(450);
    expect(body.answer).toMatch(/^HTTP\/1\.1 408/);
    expect(body.tookMs).toBeGreaterThan(2450);
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  });

  it('is not a poll that waits longer', async () => {
    const { url } = await start({ HEADERS_TIMEOUT_MS: '100', REQUEST_TIMEOUT_MS: '100' });
    const poll = await fetch(`${url}/api/activity/nothing?timeout=3`);
    expect(poll.status).toBe(404);
  });
});
