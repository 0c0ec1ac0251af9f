/** Types of the definition "checked-order", version 1. Takes orders whose data is described */

export type Input = {
  /** Order number */
  id: string;
  priority?: 'low' | 'high';
  lines: {
    sku: string;
    count?: number;
  }[];
};

/** The data of a run: the start data, and the fields that Outputs add. */
export type Data = Input & {
  pieces?: unknown;
};

/** The activities by name, each with the type of its parameters. */
export type Activities = Record<string, never>;
