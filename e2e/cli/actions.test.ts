/**
 * Goal: runs can be controlled and repaired, one by one and in bulk.
 * Method: the real command, in a pseudo-terminal and in a pipe, against one server.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../sdk/test/support/eventually.js';
import { CommandLine } from './command-line.js';
import { ENDING, ORDER, RETRYING } from './definitions.js';

let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
  for (const definition of [ENDING, ORDER, RETRYING]) {
    await line.client.definitions.register(definition);
  }
});
afterAll(() => line.stop());

async function startOrder(order: string): Promise<string> {
  return (await line.client.workflows.start('order', { order })).id;
}

async function suspended(message: string): Promise<string> {
  const { id } = await line.client.workflows.start('ending', { how: 'suspend', message });
  await eventually('it is suspended', async () => (await statusOf(id)) === 'Suspended');
  return id;
}

async function statusOf(id: string): Promise<string> {
  return (await line.client.workflows.get(id)).status;
}

describe('a control command', () => {
  it('acts on one run and prints its status', async () => {
    const id = await startOrder('C1');
    expect(await line.pipe(['suspend', id])).toEqual({
      code: 0,
      stdout: `${id}  Suspended\n`,
      stderr: '',
    });
    expect((await line.terminal(['resume', id])).screen).toBe(
      `${id}  \u001b[36mRunnable\u001b[39m\n`,
    );
    expect(await line.json(['terminate', id])).toMatchObject({
      workflowId: id,
      outcome: 'Terminated',
    });
  });

  it('acts on several runs, and ends with 1 if one is refused or missing', async () => {
    const ids = [await startOrder('C2'), await startOrder('C3')];
    const good = await line.pipe(['suspend', ...ids]);
    expect(good.code).toBe(0);
    expect(good.stdout).toMatch(/^RUN +RESULT {2}STATUS\n(\S+ +done +Suspended\n){2}$/);
    const bad = await line.terminal(['resume', ...ids, 'nope']);
    expect(bad.code).toBe(1);
    expect(bad.screen).toMatch(/^nope +.*missing/m);
  });

  it('terminates with a reason, for one run and for several', async () => {
    const ids = [await startOrder('C5'), await startOrder('C6'), await startOrder('C7')];
    const [one, ...others] = ids;
    const reason = ['--reason', 'sold out'];
    expect((await line.pipe(['terminate', one!, ...reason])).code).toBe(0);
    expect((await line.pipe(['terminate', ...others, ...reason])).code).toBe(0);
    for (const id of ids) {
      const [newest] = await line.client.workflows.audit(id);
      expect(newest).toMatchObject({ action: 'terminate', detail: 'sold out' });
    }
  });

  it('says why a run refuses', async () => {
    const id = await startOrder('C4');
    const { code, stderr } = await line.pipe(['resume', id]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'stepwright: A run that is Runnable cannot be resumed\n',
    });
    expect((await line.pipe(['suspend', 'nope'])).code).toBe(5);
  });
});

it('attempts a waiting step now with retry', async () => {
  const { id } = await line.client.workflows.start('retrying', {});
  const retries = async (): Promise<boolean> =>
    (await line.client.workflows.explain(id)).reasons.some(({ kind }) => kind === 'retry');
  await eventually('it waits for a retry', retries);
  expect(await line.pipe(['retry', id])).toMatchObject({ code: 0, stdout: `${id}  Runnable\n` });
  await eventually('it was attempted again', async () => {
    for await (const step of line.client.workflows.steps(id)) if (step.attempt > 1) return true;
    return false;
  });
  expect((await line.terminal(['retry', id])).code).toBe(0);
});

describe('a repair command', () => {
  it('previews a rerun, and carries it out', async () => {
    const id = await suspended('broken');
    const args = ['rerun', id, '--reason', 'fixed', '-d', 'how=succeed'];
    const dry = await line.terminal([...args, '--dry-run']);
    expect(dry.screen).toContain('Nothing was changed');
    expect(await statusOf(id)).toBe('Suspended');
    const { code, stdout } = await line.pipe(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Started +work \(#\d+\)$/m);
    await eventually('it has ended', async () => (await statusOf(id)) === 'Complete');
    const [action] = await line.client.workflows.audit(id);
    expect(action).toMatchObject({
      action: 'rerun',
      detail: expect.stringContaining('fixed') as string,
    });
  });

  it('cancels and starts steps with modify, and changes data', async () => {
    const id = await startOrder('M1');
    const changes = ['--cancel', '*', '--start', 'finish', '-d', '{"approved":"by hand"}'];
    const { code, stdout } = await line.pipe(['modify', id, '--reason', 'r', ...changes]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Canceled +ask \(#2\)\nStarted +finish \(#3\)$/m);
    const ended = await line.client.workflows.wait(id);
    expect(ended).toMatchObject({ outcome: 'Succeeded', data: { approved: 'by hand' } });
  });

  it('takes for modify the body that explain proposes', async () => {
    const id = await suspended("it's broken");
    const { stdout } = await line.pipe(['explain', id]);
    const [, proposed = ''] = /^ +stepwright modify .*? --body '(.*)'$/m.exec(stdout) ?? [];
    const body = proposed.replaceAll(`'\\''`, "'");
    const result = await line.json<object>(['modify', id, '--reason', 'r', '--body', body]);
    expect(result).toMatchObject({ workflow: { workflowId: id } });
  });

  it('says with modify why a change is impossible', async () => {
    const id = await startOrder('M2');
    const none = await line.pipe(['modify', id, '--reason', 'r', '--start', 'nope']);
    expect(none.code).toBe(1);
    expect(none.stderr).toContain('nope');
    const missing = await line.pipe(['modify', id]);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain("required option '--reason <text>' not specified");
    expect((await line.terminal(['modify', id, '--reason', 'r', '--cancel', 'x'])).code).toBe(2);
  });

  it('changes the priority of a run, and rejects one that is none', async () => {
    const id = await startOrder('P1');
    const { code, stdout } = await line.pipe(['priority', id, '1']);
    expect([code, stdout.trim()]).toEqual([0, `${id}  priority 1`]);
    expect(await line.client.workflows.get(id)).toMatchObject({ priority: 1 });
    const job = ['bulk', 'create', 'priority', '--priority', '5', '--run', id, '--reason', 'r'];
    expect((await line.pipe([...job, '--dry-run'])).stderr).toContain('priority would act on');
    expect((await line.pipe(['show', id])).stdout).toMatch(/^Priority +1$/m);
    const started = await line.pipe(['run', 'order', '-d', 'order=P2', '--priority', '2']);
    const run = await line.client.workflows.get(started.stdout.trim());
    expect(run).toMatchObject({ priority: 2 });
    const refused = await line.pipe(['priority', id, '6']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('a whole number from 1 to 5');
  });

  it('starts a run with a fairness key and a weight, and shows them', async () => {
    const start = ['run', 'order', '-d', 'order=F1', '--fairness-key', 'acme'];
    const id = (await line.pipe([...start, '--fairness-weight', '2.5'])).stdout.trim();
    const fairness = { fairnessKey: 'acme', fairnessWeight: 2.5 };
    expect(await line.client.workflows.get(id)).toMatchObject(fairness);
    expect((await line.pipe(['show', id])).stdout).toMatch(/^Fairness +acme, weight 2.5$/m);
    const plain = (await line.pipe(start)).stdout.trim();
    expect((await line.pipe(['show', plain])).stdout).toMatch(/^Fairness +acme$/m);
    for (const weight of ['0', '100.5', 'much']) {
      const refused = await line.pipe([...start, '--fairness-weight', weight]);
      expect(refused.code, weight).toBe(2);
      expect(refused.stderr).toContain('a number from 0.01 to 100');
    }
  });

  it('starts a new run with the same input with restart', async () => {
    const id = await startOrder('M3');
    const { code, stdout } = await line.pipe(['restart', id, '--reason', 'again']);
    expect(code).toBe(0);
    const run = await line.client.workflows.get(stdout.trim());
    expect(run).toMatchObject({ restartOf: id, data: { order: 'M3' } });
    const { screen } = await line.terminal(['restart', id, '--reason', 'again']);
    expect(screen).toContain('Started order, version 1, again.');
  });
});

describe('bulk', () => {
  it('says in a dry run which runs cannot be modified', async () => {
    const id = await startOrder('B0');
    const body = ['--run', id, '--reason', 'r', '--modification', '{"start":[{"stepId":"no"}]}'];
    const dry = await line.pipe(['bulk', 'create', 'modify', ...body, '--dry-run']);
    expect(dry.code).toBe(0);
    expect(dry.stderr).toContain('modify would fail for this run:');
    expect(dry.stdout).toContain('There is no step with the id "no"');
  });

  it('creates a job, and shows it', async () => {
    const ids = [await startOrder('B1'), await startOrder('B1')];
    const which = ['--where', 'order=B1', '--reason', 'closed'];
    const dry = await line.pipe(['bulk', 'create', 'terminate', ...which, '--dry-run']);
    expect(dry.stderr).toBe('terminate would act on 2 runs.\n');
    for (const id of ids) expect(dry.stdout).toContain(id);
    const { code, stdout } = await line.pipe(['bulk', 'create', 'terminate', ...which]);
    expect(code).toBe(0);
    const job = stdout.trim();
    const done = async (): Promise<boolean> => (await line.client.bulk.get(job)).state === 'Done';
    await eventually('the job is done', done);

    expect((await line.pipe(['bulk', 'show', job])).stdout).toMatch(/^Progress +2 of 2 done$/m);
    expect((await line.terminal(['bulk', 'show', job])).screen).toContain('closed');
    expect((await line.pipe(['bulk', 'list'])).stdout).toMatch(
      new RegExp(`^${job} +terminate +Done `, 'm'),
    );
    expect((await line.terminal(['bulk', 'list'])).screen).toContain(job);
    expect((await line.pipe(['bulk', 'runs', job])).stdout).toMatch(/(Terminated[^]*){2}/);
    expect((await line.terminal(['bulk', 'runs', job])).screen).toContain('Terminated');
    expect(await line.json(['bulk', 'show', job])).toMatchObject({ done: 2, failures: [] });
    expect(await line.json(['bulk', 'list'])).toMatchObject({ items: [{ id: job }] });
  });

  it('stops a job', async () => {
    const ids = [await startOrder('B2'), await startOrder('B2'), await startOrder('B2')];
    const runs = ids.flatMap((id) => ['--run', id]);
    const slow = ['bulk', 'create', 'suspend', ...runs, '--reason', 'r', '--per-second', '0.1'];
    const { screen } = await line.terminal(slow);
    const [job = ''] = screen.split('\n');
    const { code, stdout } = await line.pipe(['bulk', 'stop', job]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^State +Stopped$/m);
    expect((await line.terminal(['bulk', 'stop', job])).code).toBe(0);
  });

  it('waits for the end of a job', async () => {
    const runs = [await startOrder('B3'), await startOrder('B3')].flatMap((id) => ['--run', id]);
    const create = ['bulk', 'create', 'suspend', ...runs, '--reason', 'r', '--wait'];
    const ended = await line.pipe(create);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^State +Done$/m);
    expect(ended.stderr).toMatch(/^The job \S+ acts on 2 runs\.$/m);
    expect((await line.terminal(create)).screen).toMatch(/2 skipped/);
    const resume = ['bulk', 'create', 'resume', ...runs, '--reason', 'r', '--per-second', '0.1'];
    const late = await line.pipe([...resume, '--wait', '--timeout', '1s', '--json']);
    expect(late.code).toBe(14);
    const { id } = JSON.parse(late.stdout) as { readonly id: string };
    expect((await line.pipe(['bulk', 'stop', id])).code).toBe(0);
    expect((await line.pipe([...create, '--dry-run'])).code).toBe(2);
  });

  it('does not act on all runs by mistake', async () => {
    const { code, stderr } = await line.pipe(['bulk', 'create', 'purge', '--reason', 'r']);
    expect(code).toBe(2);
    expect(stderr).toContain('select the runs with');
    const rate = ['bulk', 'create', 'retry', '--all', '--reason', 'r', '--per-second', 'fast'];
    expect((await line.pipe(rate)).stderr).toContain('It must be a number above 0');
    expect((await line.pipe(['bulk', 'show', 'nope'])).code).toBe(5);
  });
});
