// Nothing imports from here: what would is replaced when the page is built (plugins/left-out.js).
export default undefined;
