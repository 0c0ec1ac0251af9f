/**
 * Resolves references within a schema: `#`, `#/$defs/address`, `#anchor`, and the `$id` of a schema inside it.
 *
 *  RR1 Nothing is loaded: a reference to a document that is not part of the schema is foreign.
 *  RR2 A schema with an `$id` is a separate resource: anchors belong to it, and fragments start at it.
 */
import { valueAt } from './json-pointer.js';
import { schemaPositions } from './schema-positions.js';
import { resolveUri } from './resolve-uri.js';
import { getField, isJsonObject, type Json, type JsonObject } from '../values/json.js';

export interface SchemaResource {
  readonly root: JsonObject;
  readonly uri: string;
  readonly anchors: ReadonlyMap<string, JsonObject>;
  readonly dynamicAnchors: ReadonlyMap<string, JsonObject>;
}

interface OpenResource extends SchemaResource {
  readonly anchors: Map<string, JsonObject>;
  readonly dynamicAnchors: Map<string, JsonObject>;
}

const indexes = new WeakMap<object, SchemaReferences>();

export class SchemaReferences {
  readonly #byUri = new Map<string, SchemaResource>();
  readonly #bySchema = new Map<JsonObject, OpenResource>();
  readonly #root: OpenResource;

  /** Use `SchemaReferences.of`, which caches the index. */
  constructor(root: JsonObject) {
    this.#root = resourceAt(root, '');
    for (const { parent, schema } of schemaPositions(root)) {
      const outer = (parent === null ? undefined : this.#bySchema.get(parent)) ?? this.#root;
      const isOwn = parent !== null && typeof getField(schema, '$id') === 'string';
      const resource = isOwn ? resourceAt(schema, outer.uri) : outer;
      this.#bySchema.set(schema, resource);
      if (!this.#byUri.has(resource.uri)) this.#byUri.set(resource.uri, resource);
      addAnchors(schema, resource);
    }
  }

  /** The cached index of a schema. */
  static of(root: JsonObject): SchemaReferences {
    let index = indexes.get(root);
    if (index === undefined) {
      index = new SchemaReferences(root);
      indexes.set(root, index);
    }
    return index;
  }

  /** A schema at an unusual place, such as below an unknown keyword, belongs to the outermost resource. */
  resourceOf(schema: JsonObject): SchemaResource {
    return this.#bySchema.get(schema) ?? this.#root;
  }

  isForeign(from: JsonObject, reference: string): boolean {
    return this.#target(from, reference) === null;
  }

  /** Null if there is no such part. */
  resolve(from: JsonObject, reference: Json | undefined): Json {
    if (typeof reference !== 'string') return null;
    const target = this.#target(from, reference);
    if (target === null) return null;
    const { fragment, resource } = target;
    if (fragment === '') return resource.root;
    if (fragment.startsWith('/')) return valueAt(resource.root, fragment) ?? null;
    return resource.anchors.get(fragment) ?? null;
  }

  /** The name of the dynamic anchor that a `$dynamicRef` first leads to; null if it acts as a `$ref`. */
  dynamicAnchor(from: JsonObject, reference: string): string | null {
    const target = this.#target(from, reference);
    return target?.resource.dynamicAnchors.has(target.fragment) === true ? target.fragment : null;
  }

  #target(
    from: JsonObject,
    reference: string,
  ): { readonly resource: SchemaResource; readonly fragment: string } | null {
    const hash = reference.indexOf('#');
    const document = hash < 0 ? reference : reference.slice(0, hash);
    const fragment = hash < 0 ? '' : decoded(reference.slice(hash + 1));
    const own = this.resourceOf(from);
    const resource = document === '' ? own : this.#byUri.get(resolveUri(own.uri, document));
    return resource === undefined ? null : { resource, fragment };
  }
}

/** Null if there is no such part. */
export function resolveReference(root: Json, from: JsonObject, reference: Json | undefined): Json {
  return isJsonObject(root) ? SchemaReferences.of(root).resolve(from, reference) : null;
}

function resourceAt(root: JsonObject, base: string): OpenResource {
  const id = getField(root, '$id');
  const uri = typeof id === 'string' ? resolveUri(base, id.replace(/#$/, '')) : base;
  return { root, uri, anchors: new Map(), dynamicAnchors: new Map() };
}

function addAnchors(schema: JsonObject, { anchors, dynamicAnchors }: OpenResource): void {
  const anchor = getField(schema, '$anchor');
  const dynamic = getField(schema, '$dynamicAnchor');
  if (typeof anchor === 'string' && !anchors.has(anchor)) anchors.set(anchor, schema);
  if (typeof dynamic !== 'string') return;
  if (!anchors.has(dynamic)) anchors.set(dynamic, schema);
  if (!dynamicAnchors.has(dynamic)) dynamicAnchors.set(dynamic, schema);
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
