/** An item of a header such as Accept-Encoding. Quality 0 means that the client refuses this item. */
export interface Accepted {
  /** Lower case. */
  readonly name: string;
  /** 0 to 1. */
  readonly quality: number;
}

/** The maximum number of characters that are read of a header. */
const MAX_LENGTH = 1000;

export function readAccepted(header: string | undefined): Accepted[] {
  return (header ?? '')
    .slice(0, MAX_LENGTH)
    .split(',')
    .map((item) => {
      const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
      return { name, quality: qualityOf(parameters) };
    });
}

function qualityOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  const quality = given === undefined ? 1 : Number(given.slice(2));
  return quality >= 0 && quality <= 1 ? quality : 0;
}
