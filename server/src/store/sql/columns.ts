/** The columns of records: their names and types, from which inserts and the maps of rows follow. */
import type { StoredRow } from './stored-row.js';

/** A value as it is in a record. */
export type SqlValue = string | number | boolean | null;

/** Text that is compared with stored text as it is, without the encoding of records (text-codec.ts), such as the end of a range. */
export class StorableText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type SqlParameter = SqlValue | StorableText;

/** A number is a whole one, and `real` is any. */
export type CellType = 'text' | 'number' | 'real' | 'boolean';

/** The columns that a statement writes, each with its type and its value. */
export type Columns<Item> = Readonly<
  Record<string, readonly [type: CellType, cellOf: (item: Item) => SqlValue]>
>;

type MemberType<Member> = [Member] extends [boolean]
  ? 'boolean'
  : [Member] extends [string]
    ? 'text'
    : [Member] extends [string | null]
      ? 'text?'
      : [Member] extends [number]
        ? 'number'
        : 'number?';

/** The columns of a record whose members each have a column of the same name. A `?` marks those that may be null. */
export type RecordColumns<Item> = {
  readonly [Name in keyof Item & string]: MemberType<Item[Name]>;
};

const READERS = {
  text: (row: StoredRow, name: string) => row.text(name),
  'text?': (row: StoredRow, name: string) => row.textOrNull(name),
  number: (row: StoredRow, name: string) => row.number(name),
  'number?': (row: StoredRow, name: string) => row.numberOrNull(name),
  boolean: (row: StoredRow, name: string) => row.boolean(name),
};

export function readRecord<Item>(row: StoredRow, columns: RecordColumns<Item>): Item {
  const types: Readonly<Record<string, keyof typeof READERS>> = columns;
  const members = Object.entries(types).map(([name, type]) => [name, READERS[type](row, name)]);
  // The columns have the types of the members, and only stores write them.
  return Object.fromEntries(members) as Item;
}

/** The columns of a record as a statement writes them. */
export function columnsOf<Item>(columns: RecordColumns<Item>): Columns<Item> {
  const types: Readonly<Record<string, string>> = columns;
  return Object.fromEntries(
    Object.entries(types).map(([name, type]) => [
      name,
      // `RecordColumns` has checked both.
      [type.replace('?', '') as CellType, (item) => item[name as keyof Item] as SqlValue],
    ]),
  );
}

/** The same columns, written from an item that contains the record. */
export function columnsWithin<Outer, Item>(
  columns: Columns<Item>,
  itemOf: (outer: Outer) => Item,
): Columns<Outer> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, [type, cellOf]]) => [
      name,
      [type, (outer) => cellOf(itemOf(outer))],
    ]),
  );
}

export function namesOf(columns: Readonly<Record<string, unknown>>): string {
  return Object.keys(columns).join(', ');
}
