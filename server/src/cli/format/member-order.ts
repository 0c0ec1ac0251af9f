/**
 * The members of definitions and steps that come first because they identify them. All others stay where the author put them,
 * such as `Saga` before the long `Do` that it applies to. Names match in any casing, as on the server.
 */
type Place = 'definition' | 'step';

const FIRST: Readonly<Record<Place, readonly string[]>> = {
  definition: ['id'],
  step: ['id', 'steptype'],
};

export function inOrder<Member>(
  members: readonly Member[],
  place: Place,
  nameOf: (member: Member) => string,
): Member[] {
  const first = FIRST[place];
  const rankOf = (member: Member): number => {
    const rank = first.indexOf(nameOf(member).toLowerCase());
    return rank === -1 ? first.length : rank;
  };
  return members.toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** Whether a member contains steps: a list of them, or a list of such lists. */
export function hasSteps(name: string): boolean {
  return ['steps', 'do', 'compensatewith'].includes(name.toLowerCase());
}
