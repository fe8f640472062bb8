import { encode } from 'uqr'

/** Modules around the code, which readers need. */
const BORDER = 4

/** A QR code, dark on white in both schemes, because not all readers know it inverted. */
export default function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: BORDER })
  const dark = data.flatMap((row, y) => row.flatMap((set, x) => (set ? `M${x} ${y}h1v1h-1z` : [])))
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      width={200}
      height={200}
      shapeRendering="crispEdges"
      style={{ background: '#fff', borderRadius: 8, maxWidth: '100%' }}
    >
      <path d={dark.join('')} fill="#000" />
    </svg>
  )
}
