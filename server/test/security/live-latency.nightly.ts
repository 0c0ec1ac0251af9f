/**
 * Goal: the probe that all attack tests rely on detects a main thread that is busy for longer than others may wait, and
 * an unrelated run that waits too long; and nothing else.
 * Method: the built server gets a deliberate weakness, a module that Node loads first: requests of `/busy` keep its
 * main thread busy, those of `/asleep` block it without any work.
 */
import { expect, it, onTestFinished } from 'vitest';
import { SpawnedServer } from '../support/spawned-server.js';
import { temporaryFolder } from '../behavior/support/server-process.js';
import { expectLively, worstLiveLatency, type LiveLatency } from './support/live-latency.js';

/** A process with interpreters starts slowly on a busy machine. */
const TIMEOUT = { timeout: 120_000 };

const HOLE = `
import { Server } from 'node:http';
const { emit } = Server.prototype;
const cell = new Int32Array(new SharedArrayBuffer(4));
Server.prototype.emit = function (name, request, response) {
  const [, how, ms] = /^\\/(busy|asleep)\\/(\\d+)$/.exec(name === 'request' ? request.url : '') ?? [];
  if (how === undefined) return emit.apply(this, arguments);
  const until = process.threadCpuUsage().user + Number(ms) * 1000;
  if (how === 'asleep') Atomics.wait(cell, 0, 0, Number(ms));
  else while (process.threadCpuUsage().user < until);
  response.end();
  return true;
};`;

async function measured(...paths: readonly string[]): Promise<LiveLatency<void>> {
  const hole = `data:text/javascript,${encodeURIComponent(HOLE)}`;
  const server = await SpawnedServer.start(
    { PORT: '0', DATA_DIR: await temporaryFolder() },
    { nodeOptions: ['--import', hole] },
  );
  onTestFinished(() => server.kill());
  return worstLiveLatency(server, async () => {
    for (const path of paths) expect((await fetch(server.url + path)).status).toBe(200);
  });
}

it('detects requests that keep the main thread busy for 300 ms', TIMEOUT, async () => {
  // On a busy machine the probe may miss a part of one.
  const latency = await measured(...Array.from({ length: 5 }, () => '/busy/300'));
  expect(() => expectLively(latency)).toThrow(/in CPU time/);
});

it(
  'detects a main thread that is blocked without any work for a second or more',
  TIMEOUT,
  async () => {
    const latency = await measured('/asleep/1200');
    expect(() => expectLively(latency)).toThrow(/worst latency/);
  },
);

it('tolerates many requests that take less time each', TIMEOUT, async () => {
  const latency = await measured(...Array.from({ length: 30 }, () => '/busy/10'));
  expectLively(latency);
});
