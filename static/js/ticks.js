/**
 * Thins story times out to at most one in each of `buckets` equal stretches of the
 * bar: more marks than that would only turn it grey.
 * @param {readonly number[]} times ascending
 * @param {number} start
 * @param {number} end
 * @param {number} buckets
 * @returns {number[]} positions from 0 to 1
 */
export function decimate(times, start, end, buckets) {
  const out = [];
  let last = -1;
  for (const s of times) {
    const p = end > start ? (s - start) / (end - start) : 0;
    const bucket = Math.min(buckets - 1, Math.floor(p * buckets));
    if (bucket === last) continue;
    last = bucket;
    out.push(p);
  }
  return out;
}

/**
 * The upper edge of a zigzag, for a stretch whose time is folded.
 * @param {number} teeth
 */
export function zigzag(teeth) {
  let d = "M0 5";
  for (let i = 0; i < teeth * 2; i++) d += `L${(i + 0.5) * 5} ${i % 2 ? 9 : 1}`;
  return `${d}L${teeth * 10} 5`;
}
