/**
 * Determines the changes that a commit makes to the index fields of one instance. Values in the data are replaced, never
 * changed in place, so nothing is computed while the values are identical.
 */
import type { Instance } from '../../engine/model/instance.js';
import {
  areSameFields,
  indexFieldsOf,
  type IndexFields,
  type IndexPaths,
} from '../../engine/values/index-fields.js';
import { getField, type Json } from '../../engine/values/json.js';
import type { IndexChange } from '../../store/records/instances.js';

interface Computed {
  readonly paths: IndexPaths;
  /** The members of the data that the paths begin with. */
  readonly sources: readonly (Json | undefined)[];
  readonly fields: IndexFields;
}

export class IndexTracker {
  #computed: Computed | null = null;

  /** Undefined if the stored fields, which the instance has, are up to date. */
  changeOf(instance: Instance, paths: IndexPaths): IndexChange | undefined {
    const before = instance.index;
    if (this.#isUpToDate(instance, paths)) return undefined;
    const computed = indexFieldsOf(instance.data, paths);
    const isSame = areSameFields(before, computed);
    const after = isSame ? before : computed;
    this.#computed = { paths, sources: sourcesOf(instance, paths), fields: after };
    return isSame ? undefined : { before, after };
  }

  #isUpToDate(instance: Instance, paths: IndexPaths): boolean {
    const computed = this.#computed;
    // A lost commit has not stored the computed fields, and another node may have stored others.
    if (computed?.fields !== instance.index || computed.paths !== paths) return false;
    return sourcesOf(instance, paths).every((source, at) => source === computed.sources[at]);
  }
}

function sourcesOf({ data }: Instance, paths: IndexPaths): (Json | undefined)[] {
  return Array.from(paths.values(), ([first = '']) => getField(data, first));
}
