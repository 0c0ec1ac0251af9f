/** The entry of a table that accepts an address, by the scheme of the address. */
export function byScheme<Choice extends { readonly schemes: readonly string[] }>(
  choices: readonly Choice[],
  address: string,
): Choice {
  const found = choices.find(({ schemes }) =>
    schemes.some((scheme) => address.startsWith(`${scheme}://`)),
  );
  // The settings accept no other scheme.
  if (found === undefined) throw new Error('The scheme of the address is unknown');
  return found;
}
