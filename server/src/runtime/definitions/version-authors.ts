/**
 * The authors of definition and custom step versions, stored as resources beside them.
 *
 *  VA1 A version's author is the one who first stored it, however often the request is repeated. If a process is killed after
 *      it has stored a version, the version has no author until the request is repeated.
 */
import type { Store } from '../../store/store.js';
import type { Page } from '../model/paging.js';

interface Version {
  readonly name: string;
  readonly version: number;
}

export class VersionAuthors {
  readonly #store: Pick<Store, 'getResource' | 'saveResource'>;
  readonly #of: 'definition' | 'script';

  constructor(store: Pick<Store, 'getResource' | 'saveResource'>, of: 'definition' | 'script') {
    this.#store = store;
    this.#of = of;
  }

  /** @param actor undefined if no client stored it */
  async note(version: Version, actor: string | undefined): Promise<void> {
    if (actor === undefined) return;
    const record = { kind: 'version-author', revision: 1, expiresAt: null, body: actor } as const;
    await this.#store.saveResource({ ...record, name: this.#keyOf(version) }, null);
  }

  async addTo<Item>(
    { items, nextCursor }: Page<Item>,
    versionOf: (item: Item) => Version,
  ): Promise<Page<Item & { readonly createdBy: string | null }>> {
    const found = items.map(async (item) => {
      const noted = await this.#store.getResource('version-author', this.#keyOf(versionOf(item)));
      return { ...item, createdBy: noted?.body ?? null };
    });
    return { items: await Promise.all(found), nextCursor };
  }

  #keyOf({ name, version }: Version): string {
    return `${this.#of}:${version}:${name}`;
  }
}
