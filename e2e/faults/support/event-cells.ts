/** The cases of docs/definitions.md that define which events a wait takes; the test of T-11 runs them. */
import { readFileSync } from 'node:fs';

export interface EventCell {
  readonly workflow: string;
  readonly actions: readonly string[];
  /** For each run of the case: the data of the events that it takes, in order. */
  readonly taken: readonly (readonly number[])[];
}

const DOCUMENT = new URL('../../../docs/definitions.md', import.meta.url);
const TABLE = /<!-- events -->\n([\s\S]*?)<!-- end of events -->/;

/** @throws Error if the table is missing, or a row does not have three cells */
export function readEventCells(): readonly EventCell[] {
  const table = TABLE.exec(readFileSync(DOCUMENT, 'utf8'))?.[1];
  if (table === undefined) throw new Error('docs/definitions.md has no table of events');
  const [, , ...lines] = table.split('\n').filter((line) => line.startsWith('|'));
  return lines.map((line) => {
    const [workflow, actions, taken] = line.split('|').slice(1, -1);
    if (workflow === undefined || actions === undefined || taken === undefined) {
      throw new Error(`not a case of events: ${line}`);
    }
    return {
      workflow: workflow.trim(),
      actions: actions.split(',').map((action) => action.trim()),
      taken: taken.split(';').map(numbersIn),
    };
  });
}

function numbersIn(list: string): readonly number[] {
  return list.trim() === 'nothing' ? [] : list.split(',').map(Number);
}
