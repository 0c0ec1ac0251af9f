/** The options of a start, as the user chooses them. Pure. */
import type { StartOptions } from '@stepwright/sdk';

export interface StartChoices {
  readonly reference: string;
}

export const NO_CHOICES: StartChoices = { reference: '' };

export function startOptions({ reference }: StartChoices): StartOptions {
  return reference === '' ? {} : { reference };
}
