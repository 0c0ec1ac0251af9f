/**
 * Inserts into one collection that are requested at the same time share one unordered `insert` command. The server reports
 * failures by position, so each caller learns the outcome of its own documents.
 */
import { MongoServerError, type Collection } from 'mongodb';
import { GroupCommit } from '../group-commit.js';
import {
  resultOf,
  type GroupedOutcome,
  DUPLICATE_KEY,
  groupErrorOf,
  writeFailuresIn,
  type WriteFailure,
} from './mongo-errors.js';
import { packedLength, type PackedText } from './packed-text.js';

/** Positions, among the documents of one caller, of those that exist already. */
export type Duplicates = ReadonlySet<number>;

const NONE: Duplicates = new Set();

export class GroupedInserts<Item extends { readonly _id: string }> {
  readonly #collection: Pick<Collection<Item>, 'insertMany'>;
  readonly #groups: GroupCommit<readonly Item[], GroupedOutcome<Duplicates>>;

  /** @param textOf the long text of a document */
  constructor(
    collection: Pick<Collection<Item>, 'insertMany'>,
    textOf: (item: Item) => PackedText,
  ) {
    this.#collection = collection;
    this.#groups = new GroupCommit({
      send: (group) => this.#send(group),
      sizeOf: (documents) => {
        let length = 0;
        for (const document of documents) length += packedLength(textOf(document));
        return length;
      },
    });
  }

  /** Inserts the documents that don't exist yet, and leaves the others unchanged. */
  async insert(documents: readonly Item[]): Promise<Duplicates> {
    return resultOf(await this.#groups.submit(documents));
  }

  async #send(group: readonly (readonly Item[])[]): Promise<readonly GroupedOutcome<Duplicates>[]> {
    try {
      const documents: readonly Item[] = group.flat();
      // The driver's type of a new document fits every document that has its `_id`.
      const inserted = documents as Parameters<Collection<Item>['insertMany']>[0];
      await this.#collection.insertMany(inserted, { ordered: false });
    } catch (error) {
      return outcomesOf(group, writeFailuresIn(groupErrorOf(error)));
    }
    return group.map(() => ({ result: NONE }));
  }
}

/** @param failures by position among all documents of the group */
function outcomesOf(
  group: readonly (readonly unknown[])[],
  failures: ReadonlyMap<number, WriteFailure>,
): readonly GroupedOutcome<Duplicates>[] {
  let position = 0;
  return group.map((documents): GroupedOutcome<Duplicates> => {
    const duplicates = new Set<number>();
    let other: WriteFailure | null = null;
    for (let index = 0; index < documents.length; index += 1, position += 1) {
      const failure = failures.get(position);
      if (failure?.code === DUPLICATE_KEY) duplicates.add(index);
      else if (failure !== undefined) other = failure;
    }
    return other === null ? { result: duplicates } : { error: new MongoServerError(other) };
  });
}
