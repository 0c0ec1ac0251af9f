/** An error or warning with its range in the text, as character offsets. */
export interface EditorProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
  readonly isWarning: boolean;
}
