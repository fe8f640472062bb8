/** Nothing but the shop's header and footer: a place for what is to come. */
export default function EmptyPage() {
  return <div className="wide page" style={{ minHeight: '50vh' }} />
}
