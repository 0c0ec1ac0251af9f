/** Draws which items hold the slots of a limit, and when: one panel for each order in which they are handed out. */

/** Times are seconds. */
export interface Held {
  readonly label: string;
  readonly tenant: string;
  readonly from: number;
  readonly to: number;
}

export interface Panel {
  readonly title: string;
  /** What the panel shows, in a sentence. */
  readonly note: string;
  readonly held: readonly Held[];
}

/** For readers who can't see colors, each bar also has its label. They have enough contrast on white. */
const COLORS: Readonly<Record<string, string>> = { A: '#1d4ed8', B: '#b45309', C: '#047857' };

const WIDTH = 720;
const LEFT = 70;
const RIGHT = 20;
const TITLE = 44;
const LANE = 28;
const GAP = 26;
const TICK_SECONDS = 10;
/** Between two bars in a lane. */
const SPACE = 2;

/** An SVG. */
export function drawTimeline(title: string, panels: readonly Panel[]): string {
  const seconds = Math.max(...panels.flatMap(({ held }) => held.map(({ to }) => to)));
  const scale = (WIDTH - LEFT - RIGHT) / seconds;
  const parts: string[] = [];
  let top = 8;
  for (const panel of panels) {
    const lanes = lanesOf(panel.held);
    parts.push(...drawPanel(panel, { lanes, top, seconds, scale }));
    top += TITLE + lanes.length * LANE + GAP;
  }
  const about = panels.map((panel) => `${panel.title}: ${panel.note}`).join(' ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" role="img" font-family="system-ui, sans-serif" font-size="13">
<title>${escaped(title)}</title>
<desc>${escaped(about)}</desc>
<rect width="${WIDTH}" height="${top}" fill="#ffffff"/>
${parts.join('\n')}
</svg>
`;
}

interface Place {
  readonly lanes: readonly (readonly Held[])[];
  readonly top: number;
  readonly seconds: number;
  /** Pixels for a second. */
  readonly scale: number;
}

function drawPanel({ note, title }: Panel, { lanes, scale, seconds, top }: Place): string[] {
  const x = (second: number): number => round(LEFT + second * scale);
  const first = top + TITLE;
  const bottom = first + lanes.length * LANE;
  const parts = [
    text(10, top + 16, title, 'font-weight="600"'),
    text(10, top + 34, note, 'fill="#374151"'),
  ];
  for (let second = 0; second <= seconds; second += TICK_SECONDS) {
    parts.push(
      `<path d="M${x(second)} ${first}V${bottom}" stroke="#d1d5db"/>`,
      text(x(second), bottom + 15, `${second} s`, 'text-anchor="middle" fill="#374151"'),
    );
  }
  for (const [index, lane] of lanes.entries()) {
    const y = first + index * LANE;
    parts.push(text(10, y + 18, `slot ${index + 1}`, 'fill="#374151"'));
    for (const { from, label, tenant, to } of lane) {
      const width = round((to - from) * scale - SPACE);
      parts.push(
        `<rect x="${x(from) + SPACE / 2}" y="${y + 3}" width="${width}" height="${LANE - 6}" rx="3" fill="${COLORS[tenant] ?? '#374151'}"/>`,
        text(x((from + to) / 2), y + 18, label, 'text-anchor="middle" fill="#ffffff"'),
      );
    }
  }
  return parts;
}

/** Each item in the first lane that is free when it begins. */
function lanesOf(held: readonly Held[]): readonly (readonly Held[])[] {
  const lanes: Held[][] = [];
  const inOrder = held.toSorted((a, b) => a.from - b.from);
  for (const item of inOrder) {
    const free = lanes.find((lane) => (lane.at(-1)?.to ?? 0) <= item.from);
    if (free === undefined) lanes.push([item]);
    else free.push(item);
  }
  return lanes;
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
