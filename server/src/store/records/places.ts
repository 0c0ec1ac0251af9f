/**
 * Places: how many instances of a definition may run at a time, for each key (`Concurrency`).
 *
 * An open instance with a key holds a place, waits for one, or will ask for one later. Which of them is decided by inserts and
 * `grantPlaces`, one after the other for each key (rule S14), never by a count in a process. The end of an instance frees its
 * place, because only open ones count.
 */

/** `later`: it doesn't ask yet, because it waits for its start time or for the instances with the same reference. */
export type Place = 'later' | 'waiting' | 'held';

export interface PlacesOf {
  readonly definitionId: string;
  /** Empty: the one of all instances without a key. */
  readonly key: string;
}

/** What an insert does if all places of its key are taken. */
export interface PlaceRule {
  readonly limit: number;
  /** Maximum number of instances that wait. Null: no limit. */
  readonly maxQueued: number | null;
}

export interface PlaceRequest extends PlacesOf {
  readonly limit: number;
  /** An instance that asks for a place from now on; null: a place may be free. */
  readonly asking: string | null;
  readonly now: number;
}

export interface PlaceGrants {
  /** Instances that hold a place and haven't begun: those that got it now, and others whose node may have died. */
  readonly ids: readonly string[];
  /** More places may be free: repeat the request. */
  readonly isCut: boolean;
}

/** Maximum number of places that one request grants. */
export const PLACES_PER_GRANT = 100;

/** The places of a key, for display. */
export interface PlaceCounts {
  readonly held: number;
  /** The first ids of those that hold a place, at most `HOLDERS_MAX`. */
  readonly holders: readonly string[];
  /** How many wait before the given instance. */
  readonly ahead: number;
}

export const HOLDERS_MAX = 10;

/** As a limit: everyone may have a place. */
export const UNLIMITED_PLACES = 1_000_000;

/** Maximum number of instances that are counted for display. */
export const PLACES_COUNTED_MAX = 10_000;

/** Identifies the places of a key among the keys of references: no reference key begins with this. */
export function placesKeyOf({ definitionId, key }: PlacesOf): string {
  return `places/${definitionId.length}:${definitionId}:${key}`;
}
