/** Which operations of the API the audit log records: every change is either recorded, or named here with the reason. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AUDITED_CALLS } from '../../../src/api/access/audited-calls.js';

/** Runs, events and work items have records of their own; the others change nothing. */
const NOT_RECORDED: readonly string[] = [
  'StartWorkflow',
  'PublishEvent',
  'CallWebhook',
  'SucceedActivity',
  'FailActivity',
  'ExtendActivity',
  'ReleaseActivity',
  'ValidateDefinition',
];

interface Description {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string }>>>
  >;
}

const description = JSON.parse(
  readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8'),
) as Description;

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

describe('the audit log', () => {
  it('records every operation that changes something', () => {
    const changing = Object.values(description.paths)
      .flatMap((operations) => Object.entries(operations))
      .filter(([method]) => method !== 'get')
      .map(([, { operationId }]) => lowerFirst(operationId));
    expect(changing.length).toBeGreaterThan(30);
    const excepted = NOT_RECORDED.map(lowerFirst);
    const expected = changing.filter((name) => !excepted.includes(name)).sort();
    expect(expected.filter((name) => AUDITED_CALLS[name] === undefined)).toEqual([]);
    expect(excepted.filter((name) => !changing.includes(name))).toEqual([]);
  });
});
