/** Why a file cannot be formatted. */
export class FormatProblem extends Error {
  override readonly name = 'FormatProblem';
  readonly place: { readonly line: number; readonly column: number } | null;

  constructor(message: string, place: FormatProblem['place'] = null) {
    super(message);
    this.place = place;
  }
}
