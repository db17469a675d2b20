/**
 * The key of a refund that was asked for and not answered is kept until it is: whoever closes the dialog, or loads the page
 * again, and asks once more asks for the same refund, and the money goes back once.
 */
const place = (orderNo: string, cycleNo: number) => `perennial-console-refund-${orderNo}-${cycleNo}`;

interface Unanswered {
  readonly key: string;
  readonly amountCent: number;
}

export function findUnanswered(orderNo: string, cycleNo: number): Unanswered | undefined {
  try {
    const kept = sessionStorage.getItem(place(orderNo, cycleNo));
    return kept === null ? undefined : (JSON.parse(kept) as Unanswered);
  } catch {
    return undefined;
  }
}

/** The same amount again is the same refund; another amount is another one. */
export function keyFor(orderNo: string, cycleNo: number, amountCent: number, fresh: string): string {
  const before = findUnanswered(orderNo, cycleNo);
  return before?.amountCent === amountCent ? before.key : fresh;
}

export function keepUnanswered(orderNo: string, cycleNo: number, request: Unanswered): void {
  try {
    sessionStorage.setItem(place(orderNo, cycleNo), JSON.stringify(request));
  } catch {
    // A browser that keeps nothing: the key lives as long as the dialog.
  }
}

export function forgetUnanswered(orderNo: string, cycleNo: number): void {
  try {
    sessionStorage.removeItem(place(orderNo, cycleNo));
  } catch {
    // Nothing was kept.
  }
}
