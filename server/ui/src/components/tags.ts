/** Tags while a user edits them. Pure. */

export interface TagRow {
  readonly name: string;
  readonly value: string;
}

/** Empty rows are ignored. */
export function filledRows(rows: readonly TagRow[]): readonly TagRow[] {
  return rows.filter(({ name, value }) => name !== '' || value !== '');
}

/** Null if every tag has a name, and no name occurs twice. */
export function tagsProblem(rows: readonly TagRow[]): string | null {
  const names = filledRows(rows).map(({ name }) => name);
  if (names.includes('')) return 'Every tag needs a name.';
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  return twice === undefined ? null : `There are two tags with the name ${twice}.`;
}

export function tagsOf(rows: readonly TagRow[]): Readonly<Record<string, string>> {
  return Object.fromEntries(filledRows(rows).map(({ name, value }) => [name, value] as const));
}

/** The change from the tags of a run to the rows: null removes a tag. */
export function tagChanges(
  before: Readonly<Record<string, string>>,
  rows: readonly TagRow[],
): Record<string, string | null> {
  const after = new Map(Object.entries(tagsOf(rows)));
  const removed = Object.keys(before).filter((name) => !after.has(name));
  const changed = [...after].filter(
    ([name, value]) => !Object.hasOwn(before, name) || before[name] !== value,
  );
  const nothing = removed.map((name): [string, null] => [name, null]);
  return Object.fromEntries<string | null>([...nothing, ...changed]);
}
