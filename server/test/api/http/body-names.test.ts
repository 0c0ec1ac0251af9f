/** The names of members of request bodies, in any casing. */
import { describe, expect, it } from 'vitest';
import { withKnownNames } from '../../../src/api/http/body-names.js';
import { readJson as parseJson } from '../../../src/engine/values/exact-json.js';

const MODIFY = ['POST', '/api/workflow/:id/modify'] as const;

describe('a member of a body', () => {
  it('gets the casing of the call, at every depth and in lists', () => {
    const body = {
      REASON: 'r',
      Data: { Reason: 1, StepId: 2 },
      start: [{ StepId: 'a', ITEM: { StepId: 3 } }, 'x'],
      stepmap: { StepId: 'b' },
    };
    expect(withKnownNames(...MODIFY, body)).toEqual({
      reason: 'r',
      data: { Reason: 1, StepId: 2 },
      start: [{ stepId: 'a', item: { StepId: 3 } }, 'x'],
      stepMap: { StepId: 'b' },
    });
    const job = { Action: 'modify', Filter: { Where: ['a=1'] }, Modification: { Data: { A: 1 } } };
    expect(withKnownNames('POST', '/api/bulk', job)).toEqual({
      action: 'modify',
      filter: { where: ['a=1'] },
      modification: { data: { A: 1 } },
    });
    const hook = { Scheme: 'github', Publish: { Name: "'a'", Data: { Name: 1 } } };
    expect(withKnownNames('PUT', '/api/webhook/:name', hook)).toEqual({
      scheme: 'github',
      publish: { name: "'a'", data: { Name: 1 } },
    });
  });

  it('stays if it is unknown, or given in two spellings', () => {
    for (const body of [
      { reason: 'r', Reason: 's' },
      { Reasons: 'r' },
      { reason: 'r', start: 'a', cancel: null },
      [],
      'text',
      null,
      7n,
    ]) {
      expect(withKnownNames(...MODIFY, body)).toEqual(body);
    }
    expect(withKnownNames(...MODIFY, { REASON: 1, Reason: 2 })).toEqual({ reason: 1, Reason: 2 });
  });

  it.each([
    ['POST', '/api/workflow/:id'],
    ['POST', '/api/event/:name/:key'],
    ['PATCH', '/api/workflow/:id/tags'],
    ['POST', '/api/activity/success/:token'],
    ['POST', '/api/definition'],
    ['POST', '/api/unknown'],
  ])('stays in a body that belongs to the caller: %s %s', (method, path) => {
    const body = { Reason: 1, StepId: { Start: [{ Name: 2 }] }, Steps: [{ stepID: 'a' }] };
    expect(withKnownNames(method, path, body)).toBe(body);
  });

  it('keeps a name that has a meaning in JavaScript', () => {
    const body = parseJson('{"__proto__":{"Reason":1},"constructor":2,"Reason":"r"}');
    const renamed = withKnownNames(...MODIFY, body);
    expect(JSON.stringify(renamed)).toBe('{"__proto__":{"Reason":1},"constructor":2,"reason":"r"}');
  });
});
