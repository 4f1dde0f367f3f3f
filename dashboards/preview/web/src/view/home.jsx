// All boards.
export function Home({ boards }) {
  if (!boards.length) {
    return <p style={{ paddingTop: 16 }}>There are no dashboards in the folder that this preview was given. <code>python -m dashboards build</code> makes the kit’s.</p>;
  }
  return (
    <>
      <div className="toolbar"><h1>Dashboards</h1></div>
      <ul className="board-list">
        {boards.map((board) => (
          <li key={board.uid}>
            <a href={`/d/${encodeURIComponent(board.uid)}`}>
              <strong>{board.title}</strong>
              {board.description && <p>{board.description}</p>}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
