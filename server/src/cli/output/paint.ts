/** Colors, only on a terminal and never with NO_COLOR. */
import { styleText } from 'node:util';

export type Style = Extract<Parameters<typeof styleText>[0], string>;
export type Paint = (style: Style, text: string) => string;

export function painterFor(stream: NodeJS.WriteStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}
