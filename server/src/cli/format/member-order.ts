/** The canonical order of the members of definitions and steps. Names match in any casing, as the server reads them. */
import { DEFINITION_MEMBERS, STEP_MEMBERS } from '../../engine/definitions/step-members.js';

type Place = 'definition' | 'step';

const RANKS: Readonly<Record<Place, ReadonlyMap<string, number>>> = {
  definition: ranksOf(DEFINITION_MEMBERS),
  step: ranksOf(STEP_MEMBERS),
};

/** Unknown members come last, and keep their order. */
export function inOrder<Member>(
  members: readonly Member[],
  place: Place,
  nameOf: (member: Member) => string,
): Member[] {
  const ranks = RANKS[place];
  const rankOf = (member: Member): number => ranks.get(nameOf(member).toLowerCase()) ?? ranks.size;
  return members.toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** Whether a member contains steps: a list of them, or a list of such lists. */
export function hasSteps(name: string): boolean {
  return ['steps', 'do', 'compensatewith'].includes(name.toLowerCase());
}

function ranksOf(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, index) => [name.toLowerCase(), index]));
}
