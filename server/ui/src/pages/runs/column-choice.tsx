/** The columns that the user has chosen for index fields and tags, remembered for each definition. */
import { useState, type ReactNode } from 'react';

/** More would not fit. */
export const COLUMNS_MAX = 8;
const DEFINITIONS_MAX = 50;
const KEY = 'stepwright.columns';

type Choices = Readonly<Record<string, readonly string[]>>;

interface ColumnChoice {
  readonly columns: readonly string[];
  readonly choose: (columns: readonly string[]) => void;
}

/** @param definitionId empty for the list of runs of all definitions */
export function useColumnChoice(definitionId: string): ColumnChoice {
  const [choices, setChoices] = useState(readChoices);
  return {
    columns: choices[keyOf(definitionId)] ?? [],
    choose: (columns) => setChoices(storeColumns(definitionId, columns)),
  };
}

/** The stored columns of a definition. */
export function columnsOf(definitionId: string): readonly string[] {
  return readChoices()[keyOf(definitionId)] ?? [];
}

/** Lists that are shown later have these columns. */
export function storeColumns(definitionId: string, columns: readonly string[]): Choices {
  const key = keyOf(definitionId);
  const others = Object.entries(readChoices()).filter(([name]) => name !== key);
  const kept = [[key, columns.slice(0, COLUMNS_MAX)] as const, ...others];
  const next = Object.fromEntries(kept.slice(0, DEFINITIONS_MAX));
  writeChoices(next);
  return next;
}

function keyOf(definitionId: string): string {
  return `of ${definitionId}`;
}

interface ColumnPickerProps extends ColumnChoice {
  /** The names of the fields that can be columns. */
  readonly names: readonly string[];
}

export function ColumnPicker({ names, columns, choose }: ColumnPickerProps): ReactNode {
  const all = [...new Set([...columns, ...names])].sort();
  if (all.length === 0) return null;
  const isFull = columns.length >= COLUMNS_MAX;
  return (
    <details className="column-picker">
      <summary className="button small">Columns</summary>
      <div role="group" aria-label="Columns of index fields and tags" className="panel">
        {all.map((name) => {
          const isChosen = columns.includes(name);
          return (
            <label key={name}>
              <input
                type="checkbox"
                checked={isChosen}
                disabled={isFull && !isChosen}
                onChange={() =>
                  choose(isChosen ? columns.filter((other) => other !== name) : [...columns, name])
                }
              />
              <span>
                <bdi>{name}</bdi>
              </span>
            </label>
          );
        })}
        {isFull && <p className="hint">At most {COLUMNS_MAX} columns.</p>}
      </div>
    </details>
  );
}

function readChoices(): Choices {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    const entries = Object.entries(stored ?? {}).map(([name, columns]: [string, unknown]) => {
      const list: readonly unknown[] = Array.isArray(columns) ? columns : [];
      const names = list.filter((column) => typeof column === 'string');
      return [name, names.slice(0, COLUMNS_MAX)] as const;
    });
    return Object.fromEntries(entries.slice(0, DEFINITIONS_MAX));
  } catch {
    // The browser may forbid storage, and another program may have written something else.
    return {};
  }
}

function writeChoices(choices: Choices): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(choices));
  } catch {
    // The browser may forbid storage; then the choice lasts until the page is closed.
  }
}
