/** One thing that is wrong, with its place in the text: offsets in characters. */
export interface EditorProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
  readonly isWarning: boolean;
}
