/**
 * How many values of an ascending list are at most x. It is written out because
 * a seek does it once for every bound key.
 * @param {readonly number[]} list
 * @param {number} x
 * @returns {number}
 */
export function countUpTo(list, x) {
  let lo = 0;
  let hi = list.length;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (list[mid] <= x) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/**
 * @param {number} x
 * @param {number} lo
 * @param {number} hi
 */
export function clamp(x, lo, hi) {
  return Math.max(lo, Math.min(x, hi));
}
